/* Assertions with names, which pan prints. */
#define property(name) bool name = true;
#define check(name, condition) name = (condition); assert(name);
