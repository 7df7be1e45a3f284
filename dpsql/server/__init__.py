"""`dpsql serve`: analysts who never touch the data. The way of a question, and who imports whom:

    http, wire      the doors: they translate, and decide nothing
    page            what http serves to a browser
    serve           what is checked before it listens, and how it ends
    service         who waits, who runs, how long; the audit log
    sessions        worker processes and whose they are
    worker          what runs in one: a connection like any other
    accounts        who it is

The other end, dpsql.connect("https://…"), is dbapi/remote.py.

decisions/server.md says why.
"""
