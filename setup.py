"""Lets tools that still look for setup.py build the package; everything is said in pyproject.toml."""

from setuptools import setup

setup()
