"""The process apart: statements that name nothing private run there, as the text they are."""
