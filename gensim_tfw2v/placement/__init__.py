"""Where tables live and steps run."""
