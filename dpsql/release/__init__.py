"""From exact totals to what a user may hold: noise, choices, consistency of levels, and rows as bytes."""
