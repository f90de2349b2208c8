"""The page in a real browser: headless Chromium drives it, opened from the disk with the network off."""
