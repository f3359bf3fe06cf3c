"""Link chains: keys of the vehicle file, and the chain design derived from them.

| module | content |
|---|---|
| `spec` | keys of `chain` in a vehicle file |
| `loop` | loop of its pins |
| `wheels` | wheels, teeth and tensioner |
| `layout` | the design of a whole track: shoes and bushings, with the outer sides of its shoes |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
