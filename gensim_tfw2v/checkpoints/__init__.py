"""What a training needs to resume → files on disk, and back."""
