"""Does a model see implicit bias where it is? (Borah & Mihalcea, section 6.3.)"""
