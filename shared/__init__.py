"""Contracts and plumbing that every service uses; imports no service."""
