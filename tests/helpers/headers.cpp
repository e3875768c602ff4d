// Nothing: the target of the headers that all tests share needs a source.
