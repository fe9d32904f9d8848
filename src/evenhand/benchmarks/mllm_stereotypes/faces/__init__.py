"""Pairs of faces that are alike but for gender or race, side by side: pictures of the vision modality (paper 004)."""

from evenhand.benchmarks.mllm_stereotypes.faces.face import Face, Faces
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import Pair, face_pairs
from evenhand.benchmarks.mllm_stereotypes.faces.queries import rows, unspliced_rows
from evenhand.benchmarks.mllm_stereotypes.faces.reading import read_faces
from evenhand.benchmarks.mllm_stereotypes.faces.splicing import Splicer, splice

__all__ = ["Face", "Faces", "Pair", "Splicer", "face_pairs", "read_faces", "rows", "splice", "unspliced_rows"]
