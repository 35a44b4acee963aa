#Requires -Version 5.1
# Takes Browy away on Windows: registration, program, extension and its own copy of the Copilot CLI.
#
# NOT TESTED: it has been reviewed line by line and never been run; see install.ps1.
#
#   powershell -ExecutionPolicy Bypass -File install\uninstall.ps1
[CmdletBinding(PositionalBinding = $false)]
param(
    [ValidateNotNullOrEmpty()] [string] $Prefix,
    [switch] $Purge,
    [switch] $DryRun,
    [Alias('h')] [switch] $Help
)

Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

$usage = @'
Usage: install\uninstall.ps1 [OPTIONS]

Takes the registration back and removes program, extension and Browy's own copy of the Copilot CLI.
Settings, saved files, notes and chats stay. Remove the extension itself on chrome://extensions.

  -Prefix DIR  where install.ps1 put program and extension, instead of ~\.browy\app
  -Purge       also removes ~\.browy (settings, saved files, notes) and ~\.browseragent (the log);
               chats stay, they belong to the Copilot CLI
  -DryRun      says what it would do
  -Help        this text
'@

function Write-Line([string] $Text) { Write-Host $Text }

# An absolute path; a relative one starts in PowerShell's folder, which is not that of the process.
function Get-FullPath([string] $Path) {
    $full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path)
    if (-not [IO.Path]::IsPathRooted($full)) { throw "$Path is not a folder on a disk" }
    $full = [IO.Path]::GetFullPath($full)
    $drive = [IO.Path]::GetPathRoot($full)
    if ($full -eq $drive) { throw "$Path is a whole disk; name a folder on it" }
    $full.TrimEnd('\')
}

# What could not be removed: the others are removed all the same.
$left = [Collections.Generic.List[string]]::new()

function Remove-Path([string] $Path) {
    $isFolder = [IO.Directory]::Exists($Path)
    if (-not $isFolder -and -not [IO.File]::Exists($Path)) { return }
    if ($DryRun) {
        Write-Line "would remove: $Path"
        return
    }
    try {
        if ($isFolder) { [IO.Directory]::Delete($Path, $true) } else { [IO.File]::Delete($Path) }
    } catch {
        $left.Add("${Path}: $($_.Exception.Message)")
    }
}

function Remove-EmptyFolder([string] $Folder) {
    if ($DryRun -or -not [IO.Directory]::Exists($Folder)) { return }
    # Folders with something else in them stay.
    if ([IO.Directory]::GetFileSystemEntries($Folder).Length -gt 0) { return }
    try { [IO.Directory]::Delete($Folder) } catch { Write-Line "$Folder is empty and in use; it stays" }
}

function Undo-Registration([string] $Program) {
    if (-not [IO.File]::Exists($Program)) {
        Write-Line "$Program is not there: no registration to take back."
        return
    }
    if ($DryRun) {
        Write-Line "would run: $Program uninstall-host"
        return
    }
    # A program may write to stderr and still succeed: only its exit code counts.
    $ErrorActionPreference = 'Continue'
    $PSNativeCommandUseErrorActionPreference = $false
    # Stays when the program cannot be started at all.
    $global:LASTEXITCODE = -1
    & $Program uninstall-host
    # When it fails, something of ours is still registered: keep the program, so that it can be tried again.
    if ($LASTEXITCODE -ne 0) { throw 'the registration could not be taken back; nothing else was removed' }
}

if ($Help) {
    Write-Line $usage
    exit 0
}

try {
    if ($env:OS -ne 'Windows_NT') { throw 'this script is for Windows; install/uninstall.sh is for Linux and macOS' }
    # Asked of the system, as the program does.
    $userHome = [Environment]::GetFolderPath('UserProfile')
    if (-not $userHome) { throw 'Windows names no folder for this user' }
    $browy = [IO.Path]::Combine($userHome, '.browy')
    $ownApp = [IO.Path]::Combine($browy, 'app')
    $app = if ($Prefix) { Get-FullPath $Prefix } else { $ownApp }

    Undo-Registration ([IO.Path]::Combine($app, 'bin', 'browy.exe'))

    # Only what install.ps1 put there; a prefix may hold other things.
    foreach ($folder in @($app, $ownApp | Select-Object -Unique)) {
        $bin = [IO.Path]::Combine($folder, 'bin')
        Remove-Path ([IO.Path]::Combine($bin, 'browy.exe'))
        Remove-Path ([IO.Path]::Combine($bin, '.browy.new.exe'))
        if ([IO.Directory]::Exists($bin)) {
            foreach ($old in [IO.Directory]::GetFiles($bin, '.browy.old-*')) { Remove-Path $old }
        }
        foreach ($name in 'extension', 'extension.new', 'extension.old') {
            Remove-Path ([IO.Path]::Combine($folder, $name))
        }
    }
    Remove-Path ([IO.Path]::Combine($ownApp, 'copilot'))
    if ($Purge) {
        Remove-Path $browy
        Remove-Path ([IO.Path]::Combine($userHome, '.browseragent'))
    }
    foreach ($folder in $app, $ownApp) {
        Remove-EmptyFolder ([IO.Path]::Combine($folder, 'bin'))
        Remove-EmptyFolder $folder
    }
    Remove-EmptyFolder $browy

    if ($left.Count -gt 0) {
        throw "still there, probably because a browser runs it; close your browsers and run this again:`n  " +
            ($left -join "`n  ")
    }
} catch {
    [Console]::Error.WriteLine('uninstall.ps1: ' + $_.Exception.Message)
    exit 1
}
if (-not $DryRun) { Write-Line 'Browy is removed. Remove the extension on chrome://extensions as well.' }
exit 0
