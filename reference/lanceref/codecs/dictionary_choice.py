def choose_dictionary(values, params, version): return None
