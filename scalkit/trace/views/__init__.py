"""What the explorer of waits and the timeline show, without anything that draws."""
