"""What a program says where MuJoCo is not installed."""

import subprocess
import sys

import pytest

MESSAGE = 'engine mujoco needs MuJoCo, which is not installed: pip install "segtrack[mujoco]"'


@pytest.mark.parametrize(
    "call",
    [
        "segtrack.World(engine='mujoco')",
        "__import__('segtrack.mujoco')",
        "segtrack.engine.resolve('mujoco', None)",
    ],
)
def test_one_line_says_what_to_install(call):
    program = (
        "import sys; sys.modules['mujoco'] = None\n"
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'mujoco' else find(name, *rest)\n"
        f"import segtrack, segtrack.engine\ntry: {call}\nexcept segtrack.SegtrackError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == MESSAGE


def test_an_old_one_is_refused():
    program = (
        "import sys; sys.modules['mujoco'] = old = type(sys)('mujoco'); old.__version__ = '3.11.0'\n"
        "import segtrack\ntry: segtrack.World(engine='mujoco')\n"
        "except segtrack.SegtrackError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "engine mujoco needs MuJoCo 3.12 in place of 3.11.0, which is not installed: "
        'pip install "segtrack[mujoco]"'
    )
