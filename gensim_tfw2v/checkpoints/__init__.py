"""What a training needs to go on → files on disk, and back."""
