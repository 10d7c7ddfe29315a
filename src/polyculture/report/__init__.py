"""Records to terminal, HTML, JSON, CSV and charts; computes nothing."""
