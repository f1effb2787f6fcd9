"""What agents and the service ask: reports for agents, batches, quotas and turns of tenants."""
