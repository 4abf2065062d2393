"""What is executed in a person's own kernel, in a namespace of its own.

The other modules here but `asking` and `expressions` are sent there as text: they need no more than
Python 3.8 and what the kernel has loaded, and find `names`, the person's namespace, and `asked` in
their own.
"""
