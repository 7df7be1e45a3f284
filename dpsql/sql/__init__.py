"""From text to the relational IR: parse, allow, bind; and the table of scalar functions."""
