"""Stereotypes in multimodal models: association of social groups with occupations, descriptors and persona traits."""
