"""Contract of import-linter: a folder's `__init__` is its only entrance."""

from importlinter import Contract, ContractCheck, output
from importlinter.application import contract_utils
from importlinter.domain import fields


class DoorsContract(Contract):
    """Modules of a package are imported within that package alone; others import from the package itself.

    A package within a package has a door of its own. What the top level holds (errors, files) is open.
    """

    type_name = "doors"

    ignore_imports = fields.SetField(subfield=fields.ImportExpressionField(), required=False)

    def check(self, graph, verbose):
        """Find imports past a door, and exceptions that nothing needs any more."""
        warnings = contract_utils.remove_ignored_imports(
            graph=graph,
            ignore_imports=self.ignore_imports,
            unmatched_alerting=contract_utils.AlertLevel.ERROR,
        )
        own = {module for module in graph.modules if module.startswith("segtrack.")}
        past = []
        for module in sorted(module for module in own if not graph.find_children(module)):
            package = module.rpartition(".")[0]
            if package.count("."):  # Not the top level.
                past += [
                    (importer, module)
                    for importer in sorted(graph.find_modules_that_directly_import(module))
                    if importer != package and not importer.startswith(f"{package}.")
                ]
        return ContractCheck(kept=not past, warnings=warnings, metadata={"past": past})

    def render_broken_contract(self, check):
        """Print each import past a door."""
        for importer, module in check.metadata["past"]:
            output.print_error(f"{importer} imports {module}: import from {module.rpartition('.')[0]}")
