"""Plans for scarce labels: whom to label, and what the labels will buy."""
