// A file of the tests: it is long enough to be worth compressing, compressing, compressing.
export const probe = true;
