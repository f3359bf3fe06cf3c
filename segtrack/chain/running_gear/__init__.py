"""What a chain runs around, its running gear: sprocket or drum, idler, road wheels and support rollers."""
