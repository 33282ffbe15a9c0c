"""Rows on servers and copies of them on workers: a worker pulls rows, trains its copy, and pushes the changes.

Each edge from one task's device to another's is a message, control dependencies included. So an operation on a server
depends only on what is sent there anyway, and a worker waits only for what it needs anyway.
"""
