"""Services for agents and tenants: reports, tools, batches, quotas and turns."""
