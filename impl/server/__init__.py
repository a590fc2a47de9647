"""Running brokers: one process each, with loopback sockets and real log directories.

A process can be killed, stopped (SIGSTOP) and resumed, and that is what makes it a true cluster:
``broker`` joins the parts, ``__main__`` is the process, ``embedded`` a ZooKeeper without Java.
"""
