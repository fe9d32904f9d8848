"""Of use beside the benchmarks, imported by none of them."""
