"""The bundled vehicles, a folder each: vehicle file, meshes if any, and a README with the sources."""
