"""Runs samples in Python, whose files are named as arguments, one after the other; prints the failed ones with their errors as JSON."""

import contextlib
import io
import json
import runpy
import sys

failed = {}
for file in sys.argv[1:]:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(file)
    except Exception as error:
        failed[file] = repr(error)
print(json.dumps(failed))
