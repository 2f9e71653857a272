"""A manifest for KubeRay: a cluster with a token, a job on it that runs a sweep, and the sweep's file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from swingby.errors import SwingbyError
from swingby.launch.task import Task, command, in_range, matching
from swingby.options import option

PLACE = "/etc/swingby"
"""The folder of the sweep's file and the job's script in the head's container."""
LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
QUANTITY = r"\d+(\.\d+)?(m|[kMGT]i?)?"
IMAGE = r"[a-zA-Z0-9][a-zA-Z0-9._/-]*(:\d+/[a-zA-Z0-9._/-]+)?(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@sha256:[0-9a-f]{64})?"
HEAD = {"cpu": "2", "memory": "8Gi"}
"""The resources of the head, on which the driver plans and ingests results."""
LONGEST = 47
"""Most characters of a job's name: KubeRay derives longer names from it, and Kubernetes allows 63."""


@dataclass(frozen=True)
class Pods:
    """The pods of a job.

    Attributes:
        image: the image of all pods, with `swingby[run]`, `ray[default]` and what the sweep needs.
        workers, cpus, memory, gpus: the number of worker pods, and the resources of each.
        claim: a volume claim that many pods may write to; it is mounted at the data folder.
        secret: a secret whose keys become environment variables, such as the keys of object storage.
        namespace: the namespace of the job; None: that of the command that applies the manifest.
    """

    image: str
    workers: int
    cpus: str
    memory: str
    gpus: int = 0
    claim: str | None = None
    secret: str | None = None
    namespace: str | None = None


def manifest(task: Task, pods: Pods, ray_version: str, retries: int = 2) -> str:
    """The manifest, as YAML of two documents.

    Args:
        task: the run.
        pods: the pods.
        ray_version: the version of Ray in the image.
        retries: how often a job that failed is started again, on new pods; it goes on where it stopped.

    Raises:
        SwingbyError: an option is invalid, or there is no place for the data.
    """
    _check(task, pods, ray_version)
    name = task.name[:LONGEST].rstrip("-")
    meta = {"name": name, **({"namespace": pods.namespace} if pods.namespace else {})}
    sweep = task.sweep.name if task.file is None else f"{PLACE}/sweep.yaml"
    if pods.gpus:  # pilot cells are trained by the driver, and the head has no GPU
        task = replace(task, more=(*task.more, "--no-pilot"))
    # KubeRay hands an entrypoint to a shell in another pod first, where quotes are taken off and $RAY_ADDRESS is
    # another address; so the command stands in a file, and the entrypoint only names this file.
    call = command(task, sweep, '"$RAY_ADDRESS"')
    files = {"run.sh": f"#!/bin/bash\nset -eu\nexec {call}\n"}
    if task.file is not None:
        files["sweep.yaml"] = task.file.read_text(encoding="utf-8-sig")
    job = _job(task, name, pods, ray_version, retries)
    documents = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": files},
        {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": meta, "spec": job},
    ]
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


_NUMBER = re.compile(r"[-+]?(\.\d+|\d+\.?\d*)(e[-+]?\d+)?", re.IGNORECASE)
"""Texts that Kubernetes reads as numbers unless they are quoted; PyYAML leaves some of them, such as 1e5, unquoted."""


class _Dumper(yaml.SafeDumper):
    """YAML without aliases, and with texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = "|" if "\n" in data else "'" if _NUMBER.fullmatch(data) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def _check(task: Task, pods: Pods, ray_version: str) -> None:
    """Refuses options that Kubernetes or KubeRay refuses, and a data folder that would end with its pod.

    Raises:
        SwingbyError: an option is refused.
    """
    allowed = "2.52.0 or newer, the first that asks for tokens"  # KubeRay refuses `authOptions` with an older one
    matching("ray_version", ray_version, r"\d+(\.\d+){2}[a-z0-9.]*", allowed)
    if tuple(map(int, ray_version.split(".")[:2])) < (2, 52):
        raise SwingbyError(f"{option('ray_version')} {ray_version!r}: allowed is {allowed}")
    matching("image", pods.image, IMAGE, "the name of an image, such as registry.example.org/me/swingby:1")
    in_range("workers", pods.workers)
    in_range("gpus", pods.gpus, least=0, most=64)
    for key, quantity in (("cpus", pods.cpus), ("memory", pods.memory)):
        matching(key, quantity, QUANTITY, "a quantity as Kubernetes writes it: 4, 500m, 16Gi")
    for key, name in (("claim", pods.claim), ("secret", pods.secret), ("namespace", pods.namespace)):
        if name is not None:
            matching(key, name, rf"(?=.{{1,63}}$){LABEL}", "1 to 63 lower-case letters, digits and hyphens")
    if pods.claim is None and task.data.startswith("/"):
        raise SwingbyError(
            f"{option('data', task.data)}: a folder in a pod is gone with the pod; name a volume claim that many pods "
            f"may write to ({option('claim')}), or give an address of object storage ({option('data', 's3://bucket/place')})"
        )
    if pods.claim is not None and not task.data.startswith("/"):
        raise SwingbyError(
            f"{option('claim')} is mounted at the data folder, and {option('data', task.data)} is no folder"
        )


def _job(task: Task, name: str, pods: Pods, ray_version: str, retries: int) -> Mapping[str, Any]:
    """The specification of the job and of its cluster, which has a token made by KubeRay and ends with the job."""
    head = {
        "rayStartParams": {"num-cpus": "0"},  # the head schedules and runs the driver; it trains nothing
        "template": _pod("ray-head", HEAD, task, pods, name),
    }
    # Ray reads the resources of a worker from the limits of its pod.
    gpus = {"nvidia.com/gpu": str(pods.gpus)} if pods.gpus else {}
    resources = {"cpu": pods.cpus, "memory": pods.memory, **gpus}
    worker = {
        "groupName": "workers",
        "replicas": pods.workers,
        "minReplicas": pods.workers,
        "maxReplicas": pods.workers,
        "rayStartParams": {},
        "template": _pod("ray-worker", resources, task, pods),
    }
    cluster = {
        "rayVersion": ray_version,
        "authOptions": {"mode": "token"},
        "headGroupSpec": head,
        "workerGroupSpecs": [worker],
    }
    return {
        "entrypoint": f"bash {PLACE}/run.sh",
        "backoffLimit": in_range("retries", retries, least=0, most=100),
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": 600,
        "rayClusterSpec": cluster,
    }


def _pod(
    name: str, resources: Mapping[str, str], task: Task, pods: Pods, config: str | None = None
) -> Mapping[str, Any]:
    """A pod of one container; `config` is the ConfigMap that the head's container mounts."""
    volumes, mounts = [], []
    if pods.claim is not None:
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": pods.claim}})
        mounts.append({"name": "data", "mountPath": task.data})
    if config is not None:
        volumes.append({"name": "sweep", "configMap": {"name": config}})
        mounts.append({"name": "sweep", "mountPath": PLACE, "readOnly": True})
    container = {
        "name": name,
        "image": pods.image,
        "env": [{"name": "RAY_USAGE_STATS_ENABLED", "value": "0"}],
        **({"envFrom": [{"secretRef": {"name": pods.secret}}]} if pods.secret else {}),
        "resources": {"requests": dict(resources), "limits": dict(resources)},
        "securityContext": {"allowPrivilegeEscalation": False},
        **({"volumeMounts": mounts} if mounts else {}),
    }
    return {"spec": {"containers": [container], **({"volumes": volumes} if volumes else {})}}
