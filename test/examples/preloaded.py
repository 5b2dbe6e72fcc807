"""Runs programs that are named on standard input, each in a fork of this process, which has loaded the SDKs for all of them."""

import json
import os
import runpy
import sys
import traceback

import anthropic.resources  # noqa: F401
import openai.resources  # noqa: F401


def run(file, cwd, environment, stdout, stderr):
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.argv = [file]
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = run(**json.loads(line))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
