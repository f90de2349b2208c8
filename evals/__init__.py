"""Questions and a pipeline in, measurements and a verdict out."""
