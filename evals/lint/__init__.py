"""What is wrong with settings, laws and questions, and what in them deserves a second look. Measures nothing."""
