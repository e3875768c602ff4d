// Linked with every floor; it only has to link.
int main() {}
