// Writes schemas/ from the wire types; `--check` only compares. Nothing is generated yet.
process.exitCode = 0;
