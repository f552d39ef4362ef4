#!/usr/bin/env python3
"""Runs an exported policy in onnxruntime and compares with Policy::act.

onnx_check.py TESTS: the program with io_test.cpp in it, which writes the policy, observations and actions.
Exit code 77, which ctest takes as skipped, without the packages onnx and onnxruntime.
"""

import csv
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as e:
    print(f"skipped: no {e.name}; pip install onnx onnxruntime")
    sys.exit(77)

TOLERANCE = 1e-5  # the model is in float, Policy::act in double


def check_model(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    metadata = {p.key: p.value for p in model.metadata_props}
    assert model.producer_name == "batchsim", model.producer_name
    assert metadata == {"body": "stick", "layout": "a test: 33 observations, 5 actions"}, metadata
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def read_rows(path):
    with open(path, newline="") as f:
        header, *rows = csv.reader(f)
    rows = np.array(rows, dtype=np.float64)
    nobs = sum(name.startswith("observation") for name in header)
    return rows[:, :nobs].astype(np.float32), rows[:, nobs:]


def main(tests):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tests, "[stance_io_files]"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "STANCE_IO_FILES": folder})
        session = check_model(os.path.join(folder, "policy.onnx"))
        observation, action = read_rows(os.path.join(folder, "policy.csv"))

    (given,), (taken,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, given.shape) == ("observation", "tensor(float)", ["batch", observation.shape[1]]), given
    assert (taken.name, taken.type, taken.shape) == ("action", "tensor(float)", ["batch", action.shape[1]]), taken

    together = session.run(None, {"observation": observation})[0]
    single = np.concatenate([session.run(None, {"observation": row[None]})[0] for row in observation])
    worst = max(np.abs(together - action).max(), np.abs(single - action).max())
    print(f"{len(action)} observations, actions to {np.abs(action).max():.3g}: largest difference {worst:.2g}, "
          f"allowed {TOLERANCE:g}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
