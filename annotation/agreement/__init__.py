"""How far people agree with each other and with the judge: coefficients, their intervals, and the report of a sample."""
