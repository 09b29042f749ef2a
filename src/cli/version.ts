export { packageVersion as versionOfPackage } from '../documents/package-version.ts';
