"""Laws of the manifest for KubeRay: it is what the custom resource may be, asks for a token, and loses no data."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.launch.kuberay import Pods, manifest
from swingby.launch.task import options, task_of
from swingby.sweepfile.sweep import Sweep
from tests.support.command import swingby

pytestmark = pytest.mark.usefixtures("as_a_command")

SWEEP = 'name: tried\nexperiment: sim\ntitle: "a: b # $(x) é"\naxes: {layers: [1, 2]}\nseeds: 2\n'


def closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """An object with these fields and no others: Kubernetes refuses or drops a field that it does not know."""
    fields = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**fields, "required": list(required)} if required else fields


TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
LABEL = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
QUANTITY = {"type": "string", "pattern": r"^(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$"}
AMOUNTS = {"type": "object", "additionalProperties": QUANTITY}

META = closed({"name": {**LABEL, "maxLength": 47}, "namespace": LABEL}, "name")
ENV = closed({"name": TEXT, "value": {"type": "string"}}, "name")
CONTAINER = closed(
    {
        "name": LABEL,
        "image": TEXT,
        "env": {"type": "array", "items": ENV},
        "envFrom": {"type": "array", "items": closed({"secretRef": closed({"name": LABEL})})},
        "resources": closed({"requests": AMOUNTS, "limits": AMOUNTS}),
        "securityContext": closed({"allowPrivilegeEscalation": {"type": "boolean"}}),
        "volumeMounts": {
            "type": "array",
            "items": closed({"name": LABEL, "mountPath": TEXT, "readOnly": {"type": "boolean"}}, "name", "mountPath"),
        },
    },
    "name",
)
VOLUME = closed(
    {
        "name": LABEL,
        "persistentVolumeClaim": closed({"claimName": LABEL}, "claimName"),
        "configMap": closed({"name": LABEL}),
    },
    "name",
)
POD = closed(
    {
        "spec": closed(
            {"containers": {"type": "array", "items": CONTAINER}, "volumes": {"type": "array", "items": VOLUME}},
            "containers",
        )
    }
)
WORKERS = closed(
    {
        "groupName": LABEL,
        "replicas": COUNT,
        "minReplicas": COUNT,
        "maxReplicas": COUNT,
        "rayStartParams": TEXTS,
        "template": POD,
    },
    *("groupName", "maxReplicas", "minReplicas", "template"),
)
CLUSTER = closed(
    {
        "rayVersion": TEXT,
        "authOptions": closed({"mode": {"enum": ["disabled", "token"]}}),
        "headGroupSpec": closed({"rayStartParams": TEXTS, "template": POD}, "template"),
        "workerGroupSpecs": {"type": "array", "items": WORKERS},
    },
    "headGroupSpec",
)
RAYJOB = closed(
    {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayJob"},
        "metadata": META,
        "spec": closed(
            {
                "entrypoint": TEXT,
                "backoffLimit": COUNT,
                "shutdownAfterJobFinishes": {"type": "boolean"},
                "ttlSecondsAfterFinished": COUNT,
                "rayClusterSpec": CLUSTER,
            }
        ),
    }
)
"""The fields that are used, their types, and which must be there: from KubeRay's `ray.io/v1` (rayjob_types.go and
raycluster_types.go; `authOptions` since 1.5.1, with Ray 2.52 or newer) and Kubernetes' `v1.PodTemplateSpec`."""
CONFIG = closed({"apiVersion": {"const": "v1"}, "kind": {"const": "ConfigMap"}, "metadata": META, "data": TEXTS})


def made(file: Path | None = None, data: str = "/data", overrides: tuple[str, ...] = (), **changes: Any) -> list[Any]:
    """The documents of a manifest."""
    sweep = Sweep.parse(SWEEP, "tried.yaml", overrides)
    task = task_of(sweep, str(file or "tried"), data, options(overrides, 1, None, 100_000))
    given: dict[str, Any] = {"image": "me/swingby:1", "workers": 2, "cpus": "4", "memory": "16Gi", "claim": "results"}
    ray_version = changes.pop("ray_version", "2.60.0")
    documents = list(yaml.safe_load_all(manifest(task, Pods(**{**given, **changes}), ray_version)))
    assert len(documents) == 2
    return documents


quantities = st.sampled_from(["1", "0.5", "500m", "16Gi", "2M"])


@settings(max_examples=20)
@given(
    image=st.sampled_from(["a", "r.example.org:5000/me/swingby:0.1", f"a/b@sha256:{'0' * 64}"]),
    workers=st.integers(1, 500),
    cpus=quantities,
    memory=quantities,
    gpus=st.integers(0, 8),
    secret=st.none() | st.just("keys"),
    namespace=st.none() | st.just("lab"),
)
def test_it_is_what_the_resource_may_be(**changes: Any) -> None:
    """Whatever is asked for: every field is one that the resource has, of its type; the cluster asks for a token; head
    and workers have one image; every worker mounts the data folder; a GPU is a limit, from which Ray counts."""
    config, job = made(**changes)
    jsonschema.Draft202012Validator(CONFIG).validate(config)
    jsonschema.Draft202012Validator(RAYJOB).validate(job)
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert tuple(map(int, cluster["rayVersion"].split(".")[:2])) >= (2, 52)
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    containers = [container for pod in pods for container in pod["template"]["spec"]["containers"]]
    assert {container["image"] for container in containers} == {changes["image"]}
    assert all({"name": "data", "mountPath": "/data"} in container["volumeMounts"] for container in containers)
    for pod in pods:
        known = {volume["name"] for volume in pod["template"]["spec"]["volumes"]}
        assert {mount["name"] for mount in pod["template"]["spec"]["containers"][0]["volumeMounts"]} == known
    assert containers[1]["resources"]["limits"].get("nvidia.com/gpu", "0") == str(changes["gpus"])
    assert job["spec"]["entrypoint"] == "bash /etc/swingby/run.sh"
    assert ("--no-pilot" in config["data"]["run.sh"]) == bool(
        changes["gpus"]
    )  # the driver trains pilots, without a GPU


def test_the_job_runs_the_file_as_it_is(tmp_path: Path) -> None:
    """The sweep's file goes along, to the byte, and the script calls `swingby run` with it, on the cluster of which the
    job is told, whatever stands in the options."""
    file = tmp_path / "tried.yaml"
    file.write_text(SWEEP)
    nasty = "base.n='$(touch x)'; `y`"
    with pytest.raises(SwingbyError, match=r"base\.n"):
        made(file, overrides=(nasty,))  # this sweep has no such value, and is read before
    config, job = made(file, data='/data/it\'s "here"')
    assert config["data"]["sweep.yaml"] == SWEEP
    (mount,) = (volume for volume in job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["volumes"]
                if "configMap" in volume)  # fmt: skip
    assert mount["configMap"]["name"] == config["metadata"]["name"]
    shown = config["data"]["run.sh"].replace("exec swingby", "printf '%s\\0'")
    done = subprocess.run(["bash", "-c", shown], env={"RAY_ADDRESS": "10.0.0.1:6379"}, capture_output=True, text=True)
    words = done.stdout.split("\0")[:-1]
    expected = ["run", "/etc/swingby/sweep.yaml", "--data", '/data/it\'s "here"', "--code", "installed"]
    assert words == [*expected, "--address", "10.0.0.1:6379"]


def test_a_packaged_sweep_goes_by_its_name() -> None:
    """And object storage needs no claim, but the keys of a secret in every pod."""
    config, job = made(data="s3://bucket/place", claim=None, secret="keys")
    assert set(config["data"]) == {"run.sh"}
    assert shlex.split(config["data"]["run.sh"].splitlines()[-1])[3:6] == ["tried", "--data", "s3://bucket/place"]
    cluster = job["spec"]["rayClusterSpec"]
    for pod in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        (container,) = pod["template"]["spec"]["containers"]
        assert container["envFrom"] == [{"secretRef": {"name": "keys"}}]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": None}, "gone with the pod"),
        ({"data": "s3://b/p"}, "--claim is mounted"),
        ({"image": "a b"}, "--image"),
        ({"image": "a\nkind: Secret"}, "--image"),
        ({"claim": "-x"}, "--claim"),
        ({"claim": "x" * 64}, "--claim"),
        ({"secret": "A"}, "--secret"),
        ({"namespace": "kube system"}, "--namespace"),
        ({"memory": "much"}, "--memory"),
        ({"cpus": "-1"}, "--cpus"),
        ({"workers": 0}, "--workers"),
        ({"gpus": -1}, "--gpus"),
        ({"ray_version": "2.51.1"}, "--ray-version"),
        ({"ray_version": "latest"}, "--ray-version"),
    ],
)
def test_what_kubernetes_would_refuse_is_refused(changes: dict[str, Any], said: str) -> None:
    """And a folder that no volume holds, since its results would be gone with the pod."""
    with pytest.raises(SwingbyError, match=said):
        made(**changes)


def test_the_verb_writes_it(tmp_path: Path) -> None:
    """`swingby cluster kuberay` prints a manifest of a packaged sweep."""
    command = ["cluster", "kuberay", "transient-memorization", "--image", "me/swingby:1"]
    done = swingby(*command, "--claim", "results")
    assert done.exit_code == 0, done.output
    config, job = yaml.safe_load_all(done.stdout)
    assert config["metadata"]["name"] == job["metadata"]["name"] == "swingby-transient-memorization"
    bad = swingby(*command)
    assert bad.exit_code == 2
    assert "--claim" in bad.output
