"""Campaigns: what is measured, in which launches and folders, started, resumed and refined."""
