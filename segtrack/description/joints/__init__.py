"""Moving joints of a body's URDF: keys of the vehicle file, tree of joints, and checks of both.

| module | content |
|---|---|
| `spec` | keys of `joints` in a vehicle file |
| `urdf` | joints of a URDF as the file gives them |
| `design` | joints that move, as engines take them, and the links that each one carries |
| `inertia` | inertias that torques at the joints feel |
| `suspension` | joints of the links that chains have springs for |
| `checks` | mistakes that only the URDF shows |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
