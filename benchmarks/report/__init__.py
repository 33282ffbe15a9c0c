"""What becomes of measurements: tables, pictures, and a file of results that says what they ran on."""
