"""How a sweep file is read: YAML with its lines, axes, expressions, overrides, parameters; all faults at once."""
