"""Models: how each is reached, and the gateway that every call goes through."""
