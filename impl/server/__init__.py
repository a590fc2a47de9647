"""Running brokers: one process each, with loopback sockets and real log directories.

Each process can be killed, suspended (SIGSTOP) and resumed. ``broker`` joins the parts,
``__main__`` is the process, ``embedded_zookeeper`` is a ZooKeeper without Java.
"""
