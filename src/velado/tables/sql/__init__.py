"""What engines that speak SQL share."""
