"""The pages: one HTML file each that opens from the disk and fetches nothing."""
