"""What people do first, in the engines of other people's phones: Firefox and WebKit."""
