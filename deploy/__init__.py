"""Ways to run the services: on one machine (embedded), or as containers."""
