"""C++ that is compiled once and loaded by ctypes: headers to build on, and who builds and finds libraries.

Nothing here knows torch: a library takes plain pointers.
"""
